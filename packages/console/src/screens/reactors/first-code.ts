/** What a new Reactor or formula runs until its own code is written. */
export const firstCode = `module.exports = async function (req) {
  const { args } = req;
  return { raw: args };
};
`;
