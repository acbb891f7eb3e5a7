/**
 * The first of these that takes the URL; those after it take it as well.
 * - `standard`: the policy as it comes.
 * - `local`: the policy of the local stack.
 * - `everything`: a policy that allows all addresses and names, so that the rows before it can fail.
 * - `parser`: only a bare WHATWG parser. No setting opens these: metadata addresses, schemes, what needs repair.
 * - `nobody`: not even that.
 */
export type TakenBy = 'standard' | 'local' | 'everything' | 'parser' | 'nobody';

export type UrlRow = [takenBy: TakenBy, url: string];
