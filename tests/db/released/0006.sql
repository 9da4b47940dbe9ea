BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES('0006');
CREATE TABLE calibrations (
	id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	uuid VARCHAR(255) NOT NULL, 
	driver VARCHAR(255) NOT NULL, 
	environment JSON NOT NULL, 
	conditions JSON NOT NULL, 
	figures JSON NOT NULL, 
	curves JSON NOT NULL, 
	taken_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(device_id) REFERENCES devices (id)
);
CREATE TABLE database_info (
	name VARCHAR(255) NOT NULL, 
	value VARCHAR(255) NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE devices (
	id INTEGER NOT NULL, 
	model VARCHAR(255) NOT NULL, 
	compute_capability_major INTEGER NOT NULL, 
	compute_capability_minor INTEGER NOT NULL, 
	limits JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (model)
);
INSERT INTO devices VALUES(1,'NVIDIA H200',9,0,'{"name": "NVIDIA H200", "compute_capability": [9, 0], "sm_count": 132, "threads_per_block": 1024, "threads_per_sm": 2048, "blocks_per_sm": 32, "registers_per_thread": 255, "registers_per_block": 65536, "registers_per_sm": 65536, "register_unit": 256, "shared_per_block": 232448, "shared_per_sm": 233472, "shared_reserved": 1024, "shared_unit": 128, "l2_bytes": 62914560, "clock_hz": 1980000000.0, "bandwidth": 4814304000000.0, "rates": {"fp32": 128, "fp64": 64, "special": 16, "tensor_fp16": 2048, "tensor_tf32": 1024, "tensor_fp8": 4096, "tensor_int8": 4096}}');
CREATE TABLE problems (
	id INTEGER NOT NULL, 
	operator VARCHAR(255) NOT NULL, 
	"key" VARCHAR(255) NOT NULL, 
	fields JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (operator, "key")
);
INSERT INTO problems VALUES(8,'transpose','m8192-n28672-e4','{"m": 8192, "n": 28672, "element_bytes": 4, "batch": 1, "lda": 28672, "stride_a": 0, "align_a": 16, "ldb": 8192, "stride_b": 0, "align_b": 16}');
INSERT INTO problems VALUES(9,'sgemm','m64-n3584-k18944-nt','{"m": 64, "n": 3584, "k": 18944, "transpose_a": false, "transpose_b": true, "batch": 1, "lda": 18944, "stride_a": 0, "align_a": 16, "ldb": 18944, "stride_b": 0, "align_b": 16, "ldc": 3584, "stride_c": 0, "align_c": 16, "beta_nonzero": false}');
INSERT INTO problems VALUES(10,'gemm','m35-n8457-k2560-nn-bfloat16','{"m": 35, "n": 8457, "k": 2560, "transpose_a": false, "transpose_b": false, "dtype": "bfloat16", "mixed": false, "out_dtype": "same", "fast_accumulation": false, "scales": "none", "batch": 1, "bias": "none", "activation": "identity", "gate": "none", "residual": false, "preactivation": false, "bucket_rows": false, "lda": 2560, "stride_a": 0, "align_a": 16, "ldb": 8457, "stride_b": 0, "align_b": 16, "ldd": 8457, "stride_d": 0, "align_d": 16}');
INSERT INTO problems VALUES(11,'gemm','m8192-n8192-k8192-tt-float32','{"m": 8192, "n": 8192, "k": 8192, "transpose_a": true, "transpose_b": true, "dtype": "float32", "mixed": false, "out_dtype": "same", "fast_accumulation": false, "scales": "none", "batch": 1, "bias": "none", "activation": "identity", "gate": "none", "residual": false, "preactivation": false, "bucket_rows": false, "lda": 8192, "stride_a": 0, "align_a": 16, "ldb": 8192, "stride_b": 0, "align_b": 16, "ldd": 8192, "stride_d": 0, "align_d": 16}');
INSERT INTO problems VALUES(12,'gemv','n6144-k4096-m16-nk-float32-identity','{"n": 6144, "k": 4096, "m": 16, "order": "nk", "dtype": "float32", "batch": 1, "bias": false, "activation": "identity", "beta_nonzero": false, "weights": "plain", "group_size": 0, "scale_dtype": "float32", "zeros": false, "transpose_x": false, "transpose_y": false, "ldx": 4096, "stride_x": 0, "align_x": 16, "ldw": 4096, "stride_w": 0, "align_w": 16, "ldy": 6144, "stride_y": 0, "align_y": 16}');
INSERT INTO problems VALUES(13,'scan','rows1-columns100000007-sum-float32-reverse','{"rows": 1, "columns": 100000007, "op": "sum", "dtype": "float32", "wide": false, "exclusive": false, "reverse": true, "flags": false, "offsets": false, "segments": 0, "init": false, "ldx": 100000007, "align_x": 16, "ldy": 100000007, "align_y": 16, "align_flags": 16}');
INSERT INTO problems VALUES(14,'scan','rows1-columns16777216-sum-float32','{"rows": 1, "columns": 16777216, "op": "sum", "dtype": "float32", "wide": false, "exclusive": false, "reverse": false, "flags": false, "offsets": false, "segments": 0, "init": false, "ldx": 16777216, "align_x": 16, "ldy": 16777216, "align_y": 16, "align_flags": 16}');
INSERT INTO problems VALUES(15,'scan','rows1-columns65536-sum-float32','{"rows": 1, "columns": 65536, "op": "sum", "dtype": "float32", "wide": false, "exclusive": false, "reverse": false, "flags": false, "offsets": false, "segments": 0, "init": false, "ldx": 65536, "align_x": 16, "ldy": 65536, "align_y": 16, "align_flags": 16}');
INSERT INTO problems VALUES(16,'scan','rows4096-columns4096-sum-float32','{"rows": 4096, "columns": 4096, "op": "sum", "dtype": "float32", "wide": false, "exclusive": false, "reverse": false, "flags": false, "offsets": false, "segments": 0, "init": false, "ldx": 4096, "align_x": 16, "ldy": 4096, "align_y": 16, "align_flags": 16}');
CREATE TABLE runs (
	id VARCHAR(255) NOT NULL, 
	command TEXT NOT NULL, 
	operator VARCHAR(255) NOT NULL, 
	options JSON NOT NULL, 
	sampler VARCHAR(255) NOT NULL, 
	seed INTEGER NOT NULL, 
	devices JSON NOT NULL, 
	begun_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	outcome VARCHAR(32), 
	error TEXT NOT NULL, 
	counts JSON NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ended_has_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL)), 
	CONSTRAINT outcome CHECK (outcome IN ('done', 'interrupted', 'failed'))
);
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	schedule JSON NOT NULL, 
	schedule_digest VARCHAR(255) NOT NULL, 
	status VARCHAR(32) NOT NULL, 
	time_source VARCHAR(32) NOT NULL, 
	seconds FLOAT, 
	samples JSON NOT NULL, 
	error TEXT NOT NULL, 
	max_error FLOAT, 
	resources JSON NOT NULL, 
	environment JSON NOT NULL, 
	conditions JSON NOT NULL, 
	lost_to VARCHAR(255) NOT NULL, 
	comparison JSON, 
	compiler VARCHAR(255) NOT NULL, 
	program_digest VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, run_id VARCHAR(255) REFERENCES runs (id), machine_code_digest VARCHAR(255) DEFAULT '' NOT NULL, study_id INTEGER REFERENCES studies (id), number INTEGER, 
	PRIMARY KEY (id), 
	UNIQUE (device_id, problem_id, schedule_digest, time_source, program_digest, compiler), 
	CONSTRAINT seconds_positive CHECK (seconds > 0), 
	CONSTRAINT ok_has_seconds CHECK (status <> 'ok' OR seconds IS NOT NULL), 
	FOREIGN KEY(problem_id) REFERENCES problems (id), 
	FOREIGN KEY(device_id) REFERENCES devices (id), 
	CONSTRAINT status CHECK (status IN ('ok', 'illegal', 'compile_error', 'launch_error', 'wrong', 'timeout', 'crashed')), 
	CONSTRAINT time_source CHECK (time_source IN ('measured', 'modelled'))
);
INSERT INTO trials VALUES(8,8,1,'{"tile_m": 128, "tile_n": 64, "rows_per_thread": 4, "vector_load": 4, "vector_store": 2, "pad": 2, "swizzle": false, "align_stores": 0, "align_loads": 0, "raster_group": 256, "streaming": false, "min_blocks_per_sm": 1, "specialize": "shape"}','f777d2902e482a6c','ok','measured',0.000447151999999999977,'[0.000445504, 0.000446584, 0.000447152, 0.000447744, 0.00044912]','',NULL,'{"registers": 50, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "7acfaabe-2449-c8b1-ab70-7f1e55b6141a", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "measured as": "NVRTC 13.2"}','{}','',NULL,'NVRTC 13.5','b288795854b94b68e10bbd2daff2730b55ebab66e50d50986d684a61d503f758','2026-11-23 15:51:08.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(9,9,1,'{"block_m": 64, "block_n": 64, "block_k": 16, "warp_m": 32, "warp_n": 64, "thread_m": 8, "thread_n": 8, "warps_k": 1, "lane_map": "z_order", "pad_a": 4, "pad_b": 4, "swizzle_a": false, "swizzle_b": false, "stages": 3, "copy_a": "async_copy", "copy_b": "async_copy", "copy_steps": 4, "double_buffer_fragments": false, "vector_a": 1, "vector_b": 4, "vector_c": 4, "ffma_order": "serpentine_row", "raster_group": 8, "cluster_k": 1, "grid_blocks": 528, "min_blocks_per_sm": 2, "specialize": "shape"}','aee060413ba50bb9','ok','measured',0.0001956319999999999999,'[0.000193632, 0.000195112, 0.000195632, 0.000196232, 0.000197664]','',NULL,'{"registers": 188, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "72726adf-6fd1-dd58-010e-3c4044fcae9b", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b"}','{}','82d23379cde681bd',NULL,'NVRTC 13.5','d1e9ce528c0e05e0e9b963e38df4181b66bcca3e2ecda8ed018312ee89c9530a','2026-11-23 20:43:13.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(10,9,1,'{"block_m": 64, "block_n": 128, "block_k": 16, "warp_m": 32, "warp_n": 64, "thread_m": 8, "thread_n": 8, "warps_k": 1, "lane_map": "z_order", "pad_a": 4, "pad_b": 4, "swizzle_a": false, "swizzle_b": false, "stages": 3, "copy_a": "async_copy", "copy_b": "async_copy", "copy_steps": 4, "double_buffer_fragments": false, "vector_a": 1, "vector_b": 4, "vector_c": 4, "ffma_order": "serpentine_row", "raster_group": 8, "cluster_k": 1, "grid_blocks": 264, "min_blocks_per_sm": 2, "specialize": "none"}','82d23379cde681bd','ok','measured',0.0002012960000000000053,'[0.00020064, 0.000201104, 0.000201296, 0.000202216, 0.000203552]','',NULL,'{"registers": 202, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "7acfaabe-2449-c8b1-ab70-7f1e55b6141a", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "measured as": "NVRTC 13.2"}','{}','',NULL,'NVRTC 13.5','a1cba474706e1d606e847b25c7197952f78e18161bf3a4d7a72e6335d2f48be0','2026-11-23 15:50:19.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(12,10,1,'{"kernel": "mma_sync", "block_m": 64, "block_n": 64, "block_k": 64, "warp_m": 32, "warp_n": 32, "stages": 4, "vector_a": 8, "vector_b": 1, "vector_d": 1, "prepare_a": "none", "prepare_b": "none", "shared_layout": "swizzled", "double_buffer_fragments": true, "promote": 0, "raster_group": 8, "grid_blocks": 264, "min_blocks_per_sm": 2, "specialize": "none"}','c182f0f1a006a4dc','ok','measured',3.8896000000000001644e-05,'[3.8112e-05, 3.8656e-05, 3.8896e-05, 3.936e-05, 4.3072e-05]','',NULL,'{"registers": 220, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "fd9db0ee-2dd0-ed56-52be-48052b226d5d", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b"}','{}','',NULL,'NVRTC 13.5','0d15e24953ac1027d3c60896624ac6deda8e07e587228b85191f5ff4aa8b68a8','2026-11-23 20:33:47.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(13,11,1,'{"kernel": "wgmma", "block_m": 128, "block_n": 256, "block_k": 32, "stages": 4, "vector_d": 2, "prepare_a": "none", "prepare_b": "none", "promote": 0, "consumers": 2, "pingpong": false, "wait_depth": 1, "tensor_store": true, "cluster_m": 1, "cluster_n": 1, "cluster_k": 1, "swap": false, "raster_group": 16, "grid_blocks": 0, "whole_tiles": false, "min_blocks_per_sm": 1, "specialize": "none"}','96b12c4d10de8b46','ok','measured',0.0028331519999999998059,'[0.002567168, 0.002830368, 0.002833152, 0.002914112, 0.002918112]','',NULL,'{"registers": 168, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "52547162-cb3a-2048-ddb9-d859fe3f6737", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "measured as": "NVRTC 13.2"}','{}','',NULL,'NVRTC 13.5','1b450f7ff50d226fb567dcd18c13389d035d2a3fdf3a0ffe08461309082be36e','2026-11-24 00:16:50.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(14,11,1,'{"kernel": "wgmma", "block_m": 128, "block_n": 256, "block_k": 32, "stages": 4, "vector_d": 2, "prepare_a": "none", "prepare_b": "none", "promote": 0, "consumers": 2, "pingpong": false, "wait_depth": 1, "tensor_store": true, "cluster_m": 1, "cluster_n": 1, "cluster_k": 1, "swap": false, "raster_group": 16, "grid_blocks": 0, "whole_tiles": false, "min_blocks_per_sm": 1, "specialize": "none"}','96b12c4d10de8b46','wrong','measured',NULL,'[]','it''s ünicode',NULL,'{"registers": 168, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "52547162-cb3a-2048-ddb9-d859fe3f6737", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "measured as": "NVRTC 13.2", "judge": "0"}','{}','',NULL,'NVRTC 13.5','0000000000000000000000000000000000000000000000000000000000000000','2026-11-24 00:16:50.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(15,12,1,'{"kernel": "fma", "threads": 128, "threads_per_output": 16, "strips": 4, "vector_width": 4, "loads_in_flight": 1, "stages": 3, "shared_x": true, "cluster": 2, "splits": 1, "weight_loads": "cached", "min_blocks_per_sm": 3, "specialize": "none"}','c5762247148d7525','ok','measured',3.2832000000000000072e-05,'[3.2352e-05, 3.2672e-05, 3.2832e-05, 3.3152e-05, 3.3696e-05]','',NULL,'{"registers": 121, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "0fd2d95c-a442-d076-e471-960498b21912", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b"}','{}','',NULL,'NVRTC 13.5','df588e2e5859c954ea5b2b8fe659af3b1293afc0fa2bdc147d865920fd394492','2026-11-23 17:00:32.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(16,13,1,'{"kernel": "bulk", "threads": 512, "vector_width": 4, "rounds": 9, "stages": 3, "grid_blocks": 132, "delay": 0, "specialize": "none"}','2d5b5504954989cf','ok','measured',0.00022529599999999999236,'[0.00021552, 0.000222056, 0.000225296, 0.0002308, 0.000243328]','',NULL,'{"registers": 54, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "fd9db0ee-2dd0-ed56-52be-48052b226d5d", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b"}','{}','',NULL,'NVRTC 13.5','a2756a9e8b423488ac0895250c86015689a7324732170db5a9e4de5eb26c07e5','2026-11-23 20:33:05.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(17,14,1,'{"kernel": "pipelined", "threads": 512, "vector_width": 4, "rounds": 8, "stages": 3, "grid_blocks": 132, "delay": 0, "streaming": false, "specialize": "none"}','cc6bed943df7abf6','ok','measured',4.1647999999999998337e-05,'[3.9296e-05, 4.1152e-05, 4.1648e-05, 4.2496e-05, 4.6432e-05]','',NULL,'{"registers": 61, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "72726adf-6fd1-dd58-010e-3c4044fcae9b", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b"}','{}','',NULL,'NVRTC 13.5','b1a84901ea43f377d8e310689fd53c82857e5bb5d3861fa1305fe0e06dcd870e','2026-11-23 20:42:54.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(18,15,1,'{"kernel": "look_back", "threads": 256, "vector_width": 4, "rounds": 8, "delay": 0, "streaming": false, "min_blocks_per_sm": 1, "specialize": "none"}','4495b80b695922ec','ok','measured',6.2400000000000003953e-06,'[5.76e-06, 6.24e-06, 6.24e-06, 6.464e-06, 7.136e-06]','',NULL,'{"registers": 72, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "72726adf-6fd1-dd58-010e-3c4044fcae9b", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "measured as": "NVRTC 13.2"}','{}','',NULL,'NVRTC 13.5','81c07930e5d3f11c9838ae82aec54c34b13bd2ae4e5f84a24ba3443bac20696d','2026-11-23 20:42:54.000000',NULL,'',NULL,NULL);
INSERT INTO trials VALUES(19,16,1,'{"kernel": "rows", "threads": 128, "threads_per_row": 128, "vector_width": 4, "rounds": 8, "streaming": false, "min_blocks_per_sm": 4, "specialize": "none"}','0573139a8681aa61','ok','measured',3.228799999999999986e-05,'[3.168e-05, 3.2032e-05, 3.2288e-05, 3.2704e-05, 3.3184e-05]','',NULL,'{"registers": 72, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "7acfaabe-2449-c8b1-ab70-7f1e55b6141a", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.5", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b"}','{}','',NULL,'NVRTC 13.5','d570841e9dcadd876f216524bff0d8f853c01e08f023e4e39da795d68c1ad994','2026-11-23 15:52:18.000000',NULL,'',NULL,NULL);
CREATE TABLE studies (
	id INTEGER NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (problem_id, device_id, name), 
	FOREIGN KEY(problem_id) REFERENCES problems (id), 
	FOREIGN KEY(device_id) REFERENCES devices (id)
);
CREATE TABLE claims (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	schedule JSON NOT NULL, 
	schedule_digest VARCHAR(255) NOT NULL, 
	run_id VARCHAR(255) NOT NULL, 
	tuner VARCHAR(255) NOT NULL, 
	until DATETIME NOT NULL, 
	tries INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (study_id, schedule_digest), 
	FOREIGN KEY(study_id) REFERENCES studies (id), 
	FOREIGN KEY(run_id) REFERENCES runs (id)
);
CREATE INDEX ix_trials_created_at ON trials (created_at);
CREATE INDEX ix_runs_begun_at ON runs (begun_at);
CREATE INDEX ix_trials_run_id ON trials (run_id);
CREATE INDEX ix_calibrations_taken_at ON calibrations (taken_at);
CREATE UNIQUE INDEX study_number ON trials (study_id, number);
CREATE INDEX fastest ON trials (device_id, problem_id, status, time_source, compiler, seconds);
COMMIT;
