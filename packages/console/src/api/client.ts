import { Sluice } from '@sluice/sdk';

/** The prefix of the service's own headers, which the page is served with. */
export const headerPrefix = document.documentElement.dataset.headerPrefix ?? 'SVC';

/** Calls the API as the person who is signed in. */
export const sluice = new Sluice({ console: true, headerPrefix });
