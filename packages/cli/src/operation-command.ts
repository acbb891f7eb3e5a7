export interface OperationCommand {
  words: readonly string[];
  method: string;
  summary: string;
  permission?: string;
  keyTypes?: readonly string[];
  params: readonly string[];
  query: readonly { name: string; description: string; isList: boolean }[];
  /** The query parameter `metadata.key` is typed `--metadata key=value`. */
  prefixes: readonly string[];
  body?: 'required' | 'optional';
  takesIfMatch?: boolean;
  example?: unknown;
  answer: 'json' | 'list' | 'text' | 'stream' | 'events' | 'none';
}
