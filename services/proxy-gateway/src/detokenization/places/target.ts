import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { RequestMessage } from '../../http/message.ts';
import type { Place } from '../place.ts';
import { type FillingHeads, withValues } from './head-values.ts';
import { fillLines } from './line.ts';
import type { Filling, Part } from './part.ts';
import { findInPath } from './path.ts';
import { findInQuery } from './query.ts';

/** Path and query, because together they are one line of the call. */
export function findInTarget(
  searched: readonly string[],
  { target }: Pick<RequestMessage, 'target'>,
  { most, isJudged }: { most: number; isJudged: boolean },
): TargetPart | undefined {
  const inPath = searched.includes('path') ? findInPath(target.path, most, isJudged) : [];
  const inQuery = searched.includes('query') ? findInQuery(target.query, most) : [];
  return inPath.length + inQuery.length === 0 ? undefined : new TargetPart(inPath, inQuery);
}

class TargetPart implements Part<FillingHeads> {
  readonly names: readonly string[];
  readonly places: readonly Place[];
  readonly #inPath: readonly Place[];
  readonly #inQuery: readonly Place[];

  constructor(inPath: readonly Place[], inQuery: readonly Place[]) {
    this.names = [...(inPath.length > 0 ? ['path'] : []), ...(inQuery.length > 0 ? ['query'] : [])];
    this.places = [...inPath, ...inQuery];
    this.#inPath = inPath;
    this.#inQuery = inQuery;
  }

  fill(message: RequestMessage, filling: Filling, context: FillingHeads): AtOnceOrLater<RequestMessage> {
    const { target } = message;
    return withValues(this.places, filling, context, (resolve) => {
      const lines = [
        { text: target.path, places: this.#inPath },
        { text: target.query, places: this.#inQuery },
      ];
      const [path = '', query = ''] = fillLines(lines, resolve, { name: 'path and query' });
      return { ...message, target: { ...target, path, query } };
    });
  }
}
