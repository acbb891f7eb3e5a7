/** A command that calls one operation, as the document describes it. */
export interface OperationCommand {
  words: readonly string[];
  /** The library's method: `applications.keys.create`. */
  method: string;
  summary: string;
  permission?: string;
  /** Types of Applications whose keys can hold the permission. */
  keyTypes?: readonly string[];
  params: readonly string[];
  query: readonly { name: string; description: string; isList: boolean }[];
  /** Beginnings of further query parameters: `metadata.` is typed `--metadata key=value`. */
  prefixes: readonly string[];
  body?: 'required' | 'optional';
  /** Names of the body's members, where it is an object of known ones. */
  members?: readonly string[];
  example?: unknown;
  answer: 'json' | 'list' | 'text' | 'stream' | 'none';
}
