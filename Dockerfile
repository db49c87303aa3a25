# The node alone: Postgres and S3 are somebody else's (docker-compose.yml has both). No embedded
# servers, no compiler, a plain user; everything from hash-pinned files.
#
#   docker build -t odf-node .
#   docker run --init -p 8080:8080 --env-file node.env odf-node

ARG PYTHON=3.13-slim-trixie

FROM python:${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore UV_NO_CACHE=1
WORKDIR /build
COPY requirements-build.txt requirements-image.txt ./
RUN python -m pip install --require-hashes -r requirements-build.txt \
 && python -m venv --without-pip /opt/odf \
 && uv pip install --python /opt/odf/bin/python --require-hashes --compile-bytecode -r requirements-image.txt
COPY pyproject.toml README.md LICENSE ./
COPY odf_core odf_core
COPY app app
COPY migrations migrations
RUN python -m pip wheel --no-index --no-deps --no-build-isolation --wheel-dir /build/dist . \
 && uv pip install --python /opt/odf/bin/python --offline --no-deps --compile-bytecode /build/dist/*.whl

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="odf-node" \
      org.opencontainers.image.description="A repository node for the Open Data Fabric" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/odf-node --shell /usr/sbin/nologin odf
COPY --from=build /opt/odf /opt/odf
ENV PATH="/opt/odf/bin:${PATH}" \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    TMPDIR=/var/lib/odf-node \
    ODF_HTTP__HOST=0.0.0.0 \
    ODF_HTTP__PORT=8080 \
    ODF_LOG__FORMAT=json
USER 10001:10001
WORKDIR /var/lib/odf-node
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['ODF_HTTP__PORT'] + '/health/live', timeout=4)"]
ENTRYPOINT ["odf"]
CMD ["serve"]
