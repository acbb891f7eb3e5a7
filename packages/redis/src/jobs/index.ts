export { catalogue, type JobName, type Payload } from './catalogue.ts';
export { type ConsumeOptions, consume } from './consume.ts';
export { type EnqueueOptions, type Jobs, type JobsOptions, openJobs } from './enqueue.ts';
export { type JobMetrics, jobMetrics } from './job-metrics.ts';
