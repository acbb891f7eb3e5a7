import type { Json } from '../json.ts';

type FilterFunction = (value: Exclude<Json, null>, ...args: Json[]) => Json | undefined;

/** What is wrong with the arguments, completing "the filter pad_left …". Undefined where nothing is. */
export type ArgumentCheck = (args: readonly unknown[]) => string | undefined;

/** Everything about one filter: evaluation, reference and tests come from it. */
export interface FilterRecord {
  readonly name: string;
  /** Its arguments as the reference shows them; empty where it takes none. */
  readonly takes: string;
  readonly gives: string;
  readonly example: FilterExample;
  /** Never called with null, so an absent value stays absent. Without it, Liquid's own filter of this name. */
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

/** Most text of a result that is longer than the value, in UTF-16 code units. */
export const longestGrown = 64 * 1024;

/** The data do not fit the filter. */
export class FilterError extends Error {}
