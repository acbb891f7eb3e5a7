export { type FeedBatch, type FeedPage, FeedStore, keptMs, mostKept } from './feed-store.ts';
export { countInvocation, type Figures, figuresOf, type MinuteCounts, newMinuteCounts } from './figures.ts';
export { type EndedInvocation, type FedInvocation, type InvocationRecord, toLine } from './invocation-record.ts';
