import { AuthenticationError, type Me } from '@sluice/sdk';
import { useSyncExternalStore } from 'react';
import { sluice } from './client.ts';
import { notices } from './notices.ts';
import { forgetUnsaved, hasUnsaved } from './unsaved.ts';

/** Where the sign-in pages find the return address, in `sessionStorage`. */
const wayBack = 'back';

/** Goes to the sign-in page, which leads back here. */
export function leaveToSignIn(): void {
  forgetUnsaved();
  sessionStorage.setItem(wayBack, location.pathname + location.search + location.hash);
  location.assign('/sign-in');
}

/**
 * The sign-in of this page. `ended`: it may have expired, or somebody has ended it or removed the member. `other`: the browser is
 * signed in as somebody else, or to another Tenant, because the cookie belongs to all tabs.
 */
type SignIn = { state: 'signed in' | 'ended' } | { state: 'other'; now: Me };

let signIn: SignIn = { state: 'signed in' };
let known: Me | undefined;
let waiting: PromiseWithResolvers<void> | undefined;
const listeners = new Set<() => void>();

/** All tabs of the console hear when somebody has signed in. */
const tabs = new BroadcastChannel('sluice-console');

export function useSignIn(): SignIn {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => signIn,
  );
}

function change(next: SignIn): void {
  signIn = next;
  for (const listener of listeners) listener();
}

/** Nothing is lost: if the page has something unsaved, it stays and waits for a sign-in in another tab. */
export function onSignInEnded(): void {
  if (!hasUnsaved() && !waiting) leaveToSignIn();
  else if (signIn.state === 'signed in') change({ state: 'ended' });
}

/** Calls again after the person has signed in again. Rejects if it is somebody else, so nothing is sent in their name. */
export async function whileSignedIn<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    waiting ??= Promise.withResolvers<void>();
    onSignInEnded();
    await waiting.promise;
    return whileSignedIn(call);
  }
}

/** Called with each answer to who is signed in. */
export function recognize(me: Me): Me {
  if (!known) {
    known = me;
    tabs.postMessage('signed in');
    return me;
  }
  if (!isSame(me, known)) {
    if (hasUnsaved() || waiting) refuse(me);
    else location.reload(); // nothing on the screen belongs to this person or Tenant
    return known;
  }
  if (me.role !== known.role) {
    notices.add({ title: `Your role in ${me.tenant.name} is ${me.role} now`, description: `It was ${known.role}.` });
  }
  known = me;
  if (signIn.state !== 'signed in') {
    change({ state: 'signed in' });
    waiting?.resolve();
    waiting = undefined;
  }
  return me;
}

function refuse(now: Me): void {
  change({ state: 'other', now });
  waiting?.promise.catch(() => {}); // its form shows it
  waiting?.reject(new Error(`You are now signed in as another person, or to another Tenant. Nothing was sent.`));
  waiting = undefined;
}

function isSame(a: Me, b: Me): boolean {
  return a.tenant.id === b.tenant.id && a.user?.id === b.user?.id && a.application_id === b.application_id;
}

async function lookAgain(): Promise<void> {
  if (signIn.state === 'signed in') return;
  try {
    recognize(await sluice.console.me());
  } catch (error) {
    if (!(error instanceof Error)) throw error; // still signed out, or offline: the next focus asks again
  }
}

tabs.addEventListener('message', lookAgain);
addEventListener('focus', lookAgain);
