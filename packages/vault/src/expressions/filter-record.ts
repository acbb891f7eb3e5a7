import type { Json } from '../json.ts';

type FilterFunction = (value: Exclude<Json, null>, ...args: Json[]) => Json | undefined;

/** The fault of the arguments, as the end of a sentence "the filter pad_left …". Undefined if there is none. */
export type ArgumentCheck = (args: readonly unknown[]) => string | undefined;

/** Everything about one filter: evaluation, reference and tests come from it. */
export interface FilterRecord {
  readonly name: string;
  /** Its arguments as the reference shows them; empty if it has none. */
  readonly takes: string;
  readonly gives: string;
  readonly example: FilterExample;
  /** Never called with null, so an absent value stays absent. If missing, Liquid's own filter of this name runs. */
  readonly run?: FilterFunction;
  /** Runs when the expression is read, before any value is known, so that an error reveals no value. */
  readonly check?: ArgumentCheck;
  /** Its result can be much longer than its value, so it is limited to {@link longestGrown}. */
  readonly grows?: true;
}

interface FilterExample {
  readonly filters: string;
  readonly data: Json;
  readonly result: Json;
}

/** In UTF-16 code units. */
export const longestPadding = 1000;

/** Longest result that may exceed its value, in UTF-16 code units. */
export const longestGrown = 64 * 1024;

/** The data does not fit the filter. */
export class FilterError extends Error {}
