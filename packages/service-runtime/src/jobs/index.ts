export { catalogue, type JobName, type Payload } from './catalogue.ts';
export { type ConsumeOptions, consume } from './consume.ts';
export { type EnqueueOptions, type Jobs, type JobsOptions, openJobs } from './enqueue.ts';
export { createJobMetrics, type JobMetrics } from './job-metrics.ts';
