# syntax=docker/dockerfile:1
# Recollect's server with its console and models. Build: docker build -t recollect .
# How to run it: docs/deployment.md. It needs no root, and writes only to /data.

FROM python:3.13-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE requirements.lock ./
COPY tools/wheel_hook.py tools/
COPY packages/recollect-embedder packages/recollect-embedder
COPY docs/openapi.json docs/
COPY src src
# The versions that were tested; the hashes of the lock belong to archives that others build.
RUN grep -oE '^[A-Za-z0-9._-]+==[^\\]+' requirements.lock > constraints.txt
RUN python -m venv /opt/recollect
RUN /opt/recollect/bin/pip install --no-cache-dir --disable-pip-version-check ./packages/recollect-embedder
RUN /opt/recollect/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt ".[postgresql,mysql,redis,s3,fast,jwt,documents,models,mcp]"

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="Recollect" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 recollect \
 && useradd --uid 10001 --gid 10001 --home-dir /data --shell /usr/sbin/nologin recollect \
 && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /opt/recollect /opt/recollect
ENV PATH=/opt/recollect/bin:$PATH \
    HOME=/data \
    RECOLLECT_DATA_DIR=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 7077
HEALTHCHECK --interval=15s --timeout=5s --start-period=40s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7077/health', timeout=4)"]
ENTRYPOINT ["recollect"]
CMD ["serve", "--container"]
