import type { SettingSchema } from '@sluice/service-runtime';

/** Suffixes of names with their units. The first match counts. */
const suffixes: readonly (readonly [suffix: RegExp, unit: string])[] = [
  [/_PER_SECOND$/, 'per second'],
  [/_BYTES\w*_PER_MINUTE$/, 'bytes'],
  [/_PER_MINUTE$/, 'per minute'],
  [/_MS$/, 'ms'],
  [/_SECONDS$/, 's'],
  [/_DAYS$/, 'days'],
  [/_BYTES$/, 'bytes'],
  [/(^|_)PORT$/, 'port'],
  [/_SAMPLER_ARG$/, 'of 1'],
];

const measures: Readonly<Record<string, string>> = { milliseconds: 'ms', seconds: 's', bytes: 'bytes' };

/**
 * Words for things that settings count. The first one in a description is the unit of a number without another unit.
 */
const counted =
  /\b(calls|connections|entries|expressions|field errors|invocations|kills|lines|look-ups|names|pairs|rows|runs|sessions|streams|threads|transforms|trials)\b/i;

/** The unit of a numeric setting, from its name or its description; undefined if neither tells it. */
export function unitOf(name: string, { description }: SettingSchema): string | undefined {
  const byName = suffixes.find(([suffix]) => suffix.test(name))?.[1];
  const measure = description.match(/\bin\s+(milliseconds|seconds|bytes)\b/)?.[1];
  return byName ?? (measure && measures[measure]) ?? description.match(counted)?.[1]?.toLowerCase();
}

/** A number, with a larger unit where that is easier to read: `10000 (10 s)`. Its own unit is in its name or description. */
export function withLargerUnit(value: number, unit?: string): string {
  const larger = unit && { ms: inTime(value), bytes: inMemory(value) }[unit];
  return `\`${value}\`${larger ? ` (${larger})` : ''}`;
}

function inTime(ms: number): string | undefined {
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms >= 1000 ? `${ms / 1000} s` : undefined;
}

function inMemory(bytes: number): string | undefined {
  const mebibyte = 1024 * 1024;
  if (bytes >= mebibyte && bytes % mebibyte === 0) return `${bytes / mebibyte} MiB`;
  return bytes >= 1024 && bytes % 1024 === 0 ? `${bytes / 1024} KiB` : undefined;
}
