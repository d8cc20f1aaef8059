"""Tests in lanes: pure | Qt | worker | end2end; benchmarks and proofs beside them."""
