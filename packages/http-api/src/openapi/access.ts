/** Who may call an operation: holders of an API key, holders of a sign-in's cookie, or anybody on a page of the console's host. */
export type Access = 'key' | 'cookie' | 'anybody';
