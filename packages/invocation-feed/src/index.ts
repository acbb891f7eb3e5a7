export { type FeedBatch, type FeedPage, FeedStore, keptMs, mostKept } from './feed-store.ts';
export { countInvocation, emptyMinuteCounts, type Figures, figuresOf, type MinuteCounts } from './figures.ts';
export { type EndedInvocation, type FedInvocation, type InvocationRecord, toLine } from './invocation-record.ts';
