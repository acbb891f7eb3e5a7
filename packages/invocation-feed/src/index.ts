export { type FeedBatch, type FeedPage, FeedStore, mostKept } from './feed-store.ts';
export {
  addCounts,
  bucketOf,
  type Counts,
  countInvocation,
  countsBeyond,
  emptyCounts,
  type Figures,
  figuresOf,
} from './figures.ts';
export { type EndedInvocation, type FedInvocation, type InvocationRecord, toLine } from './invocation-record.ts';
export { type CountedStep, readCounts, readKnownFrom, type Series } from './read-counts.ts';
export { type MinuteOfSeries, mostSeries, writeCounts } from './write-counts.ts';
