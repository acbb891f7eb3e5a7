/** The commands on Tenants and on the console read it too. */
export const linkSignInSetting = {
  CONSOLE_LINK_SIGN_IN: {
    type: 'boolean',
    default: false,
    description:
      'Whether one-time links, and invitations without an issuer, sign in to the console; for a stack on the own machine only',
  },
} as const;
