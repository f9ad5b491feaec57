"""What happens after the processing of a document: notifications of its uploader, in the product and by mail.

ingestion ─▶ outcomes.py ─▶ a row, if the work was long or failed ─▶ websocket.py: the bell, the browser
                                                                └─▶ mail.py: one mail for several rows
"""
