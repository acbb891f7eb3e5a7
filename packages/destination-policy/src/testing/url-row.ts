/**
 * The first of these that accepts the URL; those after it accept it too.
 * - `standard`: the default policy. `local`: the policy of the local stack.
 * - `everything`: a policy that allows all addresses and names, as a control for the others.
 * - `parser`: the bare WHATWG parser, because no setting opens metadata addresses, other schemes and repaired URLs.
 */
export type TakenBy = 'standard' | 'local' | 'everything' | 'parser' | 'nobody';

export type UrlRow = [takenBy: TakenBy, url: string];
