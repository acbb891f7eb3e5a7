export {
  type Checkpoint,
  originOf,
  readPrivateKey,
  readPublicKey,
  readVerifierLine,
  signCheckpoint,
  type Verifier,
  verifierLine,
  verifyCheckpoint,
  writePublicKey,
} from './checkpoint.ts';
export {
  addLeaf,
  type CompleteNode,
  type Frontier,
  readFrontier,
  rootOf,
  type Subtree,
  subtreesOf,
} from './frontier.ts';
export { readKeyFile } from './key-file.ts';
export { leafHash, leafVersion } from './leaf.ts';
export {
  consistencyRanges,
  inclusionRanges,
  isConsistent,
  joinSubtrees,
  type Range,
  rootOfInclusion,
  subtreesIn,
} from './proofs.ts';
export { ledgerKeySetting, ledgerOriginOf, ledgerOriginSettings, ledgerPublicKeysSetting } from './settings.ts';
export { type Verdict, verifyExport } from './verify-export.ts';
export { type Finding, type VerifyFiles, verifyFiles } from './verify-files.ts';
export { type RowsVerdict, verifyRows } from './verify-rows.ts';
export { readWitnessFile, toWitnessEntry, type Witnessed } from './witness-file.ts';
