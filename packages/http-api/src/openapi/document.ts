export type Part = Record<string, unknown>;

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: readonly Part[];
  security: readonly Part[];
  tags: readonly Tag[];
  /** By path, then by method. */
  paths: Record<string, Record<string, Part>>;
  /** By kind, then by name. */
  components: Record<string, Record<string, Part>>;
}

export interface Tag {
  name: string;
  description: string;
}
