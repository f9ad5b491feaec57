.PHONY: serve test check lock format

serve:
	python3 bin/serve

test:
	python3 bin/test

check:
	python3 bin/check

lock:
	python3 bin/lock

format:
	.venv/bin/ruff format . bin/check bin/lock bin/serve bin/test
	.venv/bin/ruff check --fix . bin/check bin/lock bin/serve bin/test
