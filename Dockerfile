# UNTESTED: no image has been built from this file yet. See docs/install.md.
# A CPU build of torch: put its wheel (torch-2.13.0+cpu-cp311-...) into the folder wheels/ before you build;
# without it pip takes the build with CUDA, some 5.8 GB.
#   mkdir -p wheels && docker build -t agssl . && docker run --rm -v "$PWD/my-graph:/data:ro" agssl fit /data
#   docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/runs:/runs:ro" -v "$PWD/my-graph:/data:ro" agssl \
#       serve /runs/mine --graph /data --host 0.0.0.0
FROM python:3.11-slim
COPY wheels/ /wheels/
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY src/ /source/src/
RUN pip install --no-cache-dir --find-links /wheels --constraint /source/constraints.txt '/source[metis,plot,serve]' \
    && rm -r /wheels /source
RUN useradd --create-home agssl
USER agssl
WORKDIR /home/agssl
ENTRYPOINT ["agssl"]
