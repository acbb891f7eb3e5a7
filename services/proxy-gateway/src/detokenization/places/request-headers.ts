import type { Expression, Json, RequestHeader, Segment } from '@sluice/vault';
import { configurationOf, readConfiguration } from '../../code/read-configuration.ts';
import type { Context } from '../../context.ts';
import type { HeaderList, RequestMessage } from '../../http/message.ts';
import type { ProxyDefinition } from '../../proxies/definition.ts';
import { guardUnfiltered } from '../detokenize.ts';
import type { Place } from '../place.ts';
import { type FillingHeads, withValues } from './head-values.ts';
import { fillHeaderLine, headerPlace, headerPlaceOf } from './header.ts';
import type { Line } from './line.ts';
import type { Filling, Part } from './part.ts';

export type SettingHeaders = FillingHeads & Pick<Context, 'vault' | 'proxies'>;

/** The texts are made of places alone. */
const nowhere = { start: 0, end: 0 };

const known = new WeakMap<readonly RequestHeader[], RequestHeaders>();

/** Made once for each cached Proxy. Undefined for a Proxy that sets none. */
export function requestHeadersOf({ requestHeaders }: ProxyDefinition): RequestHeaders | undefined {
  if (!requestHeaders) return undefined;
  let made = known.get(requestHeaders);
  if (!made) {
    made = new RequestHeaders(requestHeaders);
    known.set(requestHeaders, made);
  }
  return made;
}

/**
 * The headers that a Proxy sets on its calls. They are filled together with the other places, but join the message only
 * when it is sent, so that no transform has them.
 */
export class RequestHeaders implements Part<SettingHeaders> {
  readonly names: readonly string[];
  /** Those of tokens. */
  readonly places: readonly Place[];
  readonly #lines: readonly (Line & { name: string })[];
  readonly #all: readonly Place[];
  /** By the reference of their expressions. */
  readonly #configuration = new Map<string, string>();

  constructor(headers: readonly RequestHeader[]) {
    const ofTokens = new Set<Segment>();
    const names = new Set<string>();
    this.#lines = headers.map(({ name, parts }) => {
      const places = parts.map((part) => {
        const segment = part.kind === 'configuration' ? this.#asExpression(part) : part;
        if (part.kind === 'expression') {
          ofTokens.add(part);
          names.add(headerPlaceOf(name));
        }
        if (segment.kind === 'literal') return { ...nowhere, segments: [segment], write: () => segment.text };
        return headerPlace(name, { ...nowhere, segment }, true);
      });
      return { name, text: '', places };
    });
    this.names = [...names];
    this.#all = this.#lines.flatMap(({ places }) => places);
    this.places = this.#all.filter(({ segments: [segment] }) => segment && ofTokens.has(segment));
  }

  get usesConfiguration(): boolean {
    return this.#configuration.size > 0;
  }

  async fill(message: RequestMessage, filling: Filling, context: SettingHeaders): Promise<RequestMessage> {
    const values = this.usesConfiguration ? await this.#withConfiguration(filling, context) : filling.values;
    guardUnfiltered(this.#all, values, filling.invocation.acting.guard);
    return withValues(this.#all, { ...filling, values }, context, (resolve) => {
      const set: HeaderList = [];
      for (const line of this.#lines) set.push(line.name, fillHeaderLine(line.name, line, resolve));
      return { ...message, set };
    });
  }

  #asExpression({ name, filters, start, end }: ConfigurationPart): Expression {
    const reference = `config: ${name}`;
    this.#configuration.set(reference, name);
    return { kind: 'expression', reference, filters, start, end };
  }

  async #withConfiguration(
    { invocation, values }: Filling,
    context: SettingHeaders,
  ): Promise<ReadonlyMap<string, Json>> {
    const configuration: Record<string, Json> = JSON.parse(
      await readConfiguration(configurationOf(invocation.proxy, context), context),
    );
    const all = new Map(values);
    for (const [reference, name] of this.#configuration) {
      all.set(reference, Object.hasOwn(configuration, name) ? (configuration[name] ?? null) : null);
    }
    return all;
  }
}
type ConfigurationPart = Extract<RequestHeader['parts'][number], { kind: 'configuration' }>;
