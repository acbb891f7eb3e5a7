export {
  type DestinationOptions,
  type Destinations,
  type DestinationsState,
  openDestinations,
} from './destinations.ts';
export { type DestinationRequest, forward } from './forward.ts';
export type { HeaderFilter } from './headers.ts';
export type { DestinationCall, DestinationSink } from './sink.ts';
export { type StreamedRequest, streamThrough } from './stream-through.ts';
export { type DestinationUrl, joinUrl, parseDestination, type Target } from './target.ts';
