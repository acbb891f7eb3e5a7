import { Sluice } from '@sluice/sdk';

/** The prefix of the service's own headers, which the page is served with. */
export const headerPrefix = document.documentElement.dataset.headerPrefix ?? 'SVC';

/** Where clients call the API, for examples. */
export const baseUrl = document.documentElement.dataset.baseUrl ?? 'http://127.0.0.1:8080';

/** Calls the API as the person who is signed in. */
export const sluice = new Sluice({ console: true, headerPrefix });
