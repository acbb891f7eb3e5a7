import type { CallOptions } from '@sluice/sdk';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { headerPrefix } from './client.ts';
import { notices } from './notices.ts';
import { queryClient } from './query-client.ts';

interface Change<Input, Answer> {
  /** Calls the client library, with these options. */
  act: (options: CallOptions, input: Input) => Promise<Answer>;
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
      const answer = await act({ onHeaders }, input);
      notices.add({ title: said(answer, input), description: confirmation ? confirmed(confirmation) : undefined });
      return answer;
    },
    onSuccess: async (answer, input) => {
      await onDone?.(answer, input);
      await queryClient.invalidateQueries();
    },
  });
}

/** Parses `change=9f6d…, holders=4, waited_ms=3`. */
function confirmed(header: string): string {
  const {
    change = '',
    holders,
    waited_ms: waited,
  } = Object.fromEntries(header.split(', ').map((pair) => pair.split('=')));
  return `Confirmed by ${holders} ${holders === '1' ? 'process' : 'processes'} in ${waited} ms · change ${change.slice(0, 8)}`;
}
