"""`/api/docs`: the API's schema as a page of ours."""
