/** The commands on Tenants and on the console read it too. */
export const linkSignInSetting = {
  CONSOLE_LINK_SIGN_IN: {
    type: 'boolean',
    default: false,
    description: 'Whether one-time links can sign in to the console. Use it only for development',
  },
} as const;
