import type { Outcome } from '../outcome.ts';
import { type DecodedMessage, UnusableResult } from './transform-message.ts';
import { writeMessage } from './write-message.ts';

export function withMessageWritten(outcome: Outcome, message: DecodedMessage | undefined): Outcome {
  if (!message) return outcome;
  try {
    if (outcome.kind === 'result') return { kind: 'message', written: writeMessage(outcome, message) };
    if (outcome.kind !== 'thrown' || outcome.failure.kind !== 'response') return outcome;
    const { status, headersJson, bodyJson } = outcome.failure;
    // A response of the transform's own uses nothing of the message
    const written = writeMessage({ headersJson, bodyJson }, { ...message, text: ' ', contentType: undefined });
    return { kind: 'thrown', failure: { kind: 'response', status, headersJson: '', written } };
  } catch (error) {
    if (!(error instanceof UnusableResult)) throw error;
    return { kind: 'unusable', detail: error.detail, reason: error.message, limit: error.limit };
  }
}
