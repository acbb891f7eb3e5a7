export { AnswerStream, type CallEvents } from './answer-stream.ts';
export { idempotentMethods } from './call.ts';
export {
  type DestinationOptions,
  type Destinations,
  openDestinations,
} from './destinations.ts';
export { forward } from './forward.ts';

export { namesOptionsFrom } from './names/names.ts';
export type { DestinationCall, DestinationSink } from './sink.ts';
export { type StreamedRequest, streamThrough } from './stream-through.ts';
export { addressOf, checkTarget, type DestinationRequest, type DestinationUrl, parseDestination } from './target.ts';
