import type { Change } from './change.ts';

/** The hash tag in braces keeps both channels in one slot of a Redis Cluster. */
export const changesChannel = '{sluice}:changes';

export const acknowledgementsChannel = (writerId: string) => `{sluice}:acknowledgements:${writerId}`;

export interface Announcement extends Change {
  writerId: string;
}

export interface Acknowledgement {
  changeId: string;
  holderId: string;
}

export function readAnnouncement(text: string): Announcement | undefined {
  const { id, tags, writerId } = parseObject(text);
  if (typeof id !== 'string' || typeof writerId !== 'string' || !isListOfStrings(tags)) return undefined;
  return { id, writerId, tags };
}

export function readAcknowledgement(text: string): Acknowledgement | undefined {
  const { changeId, holderId } = parseObject(text);
  return typeof changeId === 'string' && typeof holderId === 'string' ? { changeId, holderId } : undefined;
}

function isListOfStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
