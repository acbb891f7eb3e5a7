import { type ChangeOptions, SluiceError } from '@sluice/sdk';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { headerPrefix } from './client.ts';
import { type Notice, notices } from './notices.ts';
import { queryClient } from './query-client.ts';
import { whileSignedIn } from './sign-in.ts';
import type { Unsaved } from './unsaved.ts';

/** A resource with its times, as the API shows it. */
export interface Versioned {
  created_at?: string;
  modified_at?: string;
}

/** The version that a change expects, for `ifMatch`. */
export function versionOf({ created_at, modified_at }: Versioned): Pick<ChangeOptions, 'ifMatch'> {
  const version = modified_at ?? created_at;
  return version === undefined ? {} : { ifMatch: version };
}

/** Somebody else has changed the resource since it was read. */
export function isStale(error: unknown): boolean {
  return error instanceof SluiceError && error.status === 412;
}

interface Change<Input, Answer> {
  /** The resource as the screen shows it. The change is refused if it is no longer the present version. */
  of?: Versioned;
  /** What the change saves, so that the page may be left afterwards. */
  unsaved?: Unsaved;
  /** Calls the client library, with these options. */
  act: (options: ChangeOptions, input: Input) => Promise<Answer>;
  /** The text of the notice, for example `The Application Shop was deleted`. */
  said: (answer: Answer, input: Input) => string;
  /** Awaited before data is read again, so that it can leave a page whose data no longer exists. */
  onDone?: (answer: Answer, input: Input) => unknown;
}

/**
 * Makes a change. Nothing is shown as done before the service has confirmed that no process serves the old state. Then a notice
 * says so, and all data on the screen is read again. A failure stays in `error`, for the component that started the change.
 */
export function useChange<Input = void, Answer = unknown>({
  of,
  unsaved,
  act,
  said,
  onDone,
}: Change<Input, Answer>): UseMutationResult<Answer, Error, Input> {
  return useMutation({
    mutationFn: async (input: Input) => {
      let confirmation: string | null = null;
      const onHeaders = (headers: Headers) => {
        confirmation = headers.get(`${headerPrefix}-REVOCATION`);
      };
      const options = { onHeaders, ...(of && versionOf(of)) };
      const answer = await whileSignedIn(() => act(options, input));
      notices.add({ title: said(answer, input), ...(confirmation !== null && confirmed(confirmation)) });
      return answer;
    },
    onError: (error) => (isStale(error) ? queryClient.invalidateQueries() : undefined),
    onSuccess: async (answer, input) => {
      unsaved?.release();
      await onDone?.(answer, input);
      await queryClient.invalidateQueries();
    },
  });
}

/** Explains `change=9f6d…, holders=4, waited_ms=3`. */
function confirmed(header: string): Pick<Notice, 'description' | 'details'> {
  const {
    change = '',
    holders,
    waited_ms: waited,
  } = Object.fromEntries(header.split(', ').map((pair) => pair.split('=')));
  const description =
    holders === '1' ? 'The running service applies the change.' : `All ${holders} running services apply the change.`;
  return { description, details: `Confirmed in ${waited} ms. Id of the change: ${change}` };
}
