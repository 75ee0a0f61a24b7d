"""What is neither engine nor network: data sets and their loading, and files of other libraries."""

from . import data, hooks, safetensors
