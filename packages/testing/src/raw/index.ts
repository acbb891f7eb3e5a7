export { cutAnswers } from './cut-answers.ts';
export { exchangeRaw, openClient, type RawClient, type TalkOptions, talk } from './raw-client.ts';
export { type RawMessage, readMessages, valuesOf } from './read-messages.ts';
export { echoesPath, okAnswer, type Script, type ScriptedDestination, startScripted } from './scripted-destination.ts';
export { type RawAnswer, rawPost, sendRaw } from './send-raw.ts';
