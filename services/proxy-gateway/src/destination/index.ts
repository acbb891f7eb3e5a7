export {
  type DestinationOptions,
  type Destinations,
  openDestinations,
} from './destinations.ts';
export { type DestinationRequest, forward } from './forward.ts';

export { namesOptionsFrom } from './names/names.ts';
export type { DestinationCall, DestinationSink } from './sink.ts';
export { type StreamedRequest, streamThrough } from './stream-through.ts';
export { type DestinationUrl, joinUrl, parseDestination, type Target } from './target.ts';
