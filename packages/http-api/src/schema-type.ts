/** Covers the keywords used here. json-schema-to-ts covers all, but exceeds the compiler's instantiation depth. */
export type TypeOf<S> = S extends { enum: readonly (infer E)[] }
  ? E
  : S extends { type: 'string' }
    ? string
    : S extends { type: 'integer' | 'number' }
      ? number
      : S extends { type: 'boolean' }
        ? boolean
        : S extends { type: 'array' }
          ? S extends { items: infer I }
            ? TypeOf<I>[]
            : unknown[]
          : S extends { type: 'object' }
            ? ObjectOf<S>
            : S extends { type: readonly ['array', 'null']; items: infer I }
              ? TypeOf<I>[] | null
              : unknown;

type ObjectOf<S> = S extends { properties: infer P }
  ? { [K in PresentKeys<S, P>]: TypeOf<P[K]> } & { [K in Exclude<keyof P, PresentKeys<S, P>>]?: TypeOf<P[K]> }
  : S extends { additionalProperties: infer A extends object }
    ? Record<string, TypeOf<A>>
    : Record<string, unknown>;

/** Validation fills in defaults, so members with a default are present. */
type PresentKeys<S, P> = {
  [K in keyof P]: P[K] extends { default: unknown }
    ? K
    : S extends { required: readonly (infer R)[] }
      ? K extends R
        ? K
        : never
      : never;
}[keyof P];
