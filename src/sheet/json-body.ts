/** How every skin reads the JSON that clients send, and makes JSON that may be large. */
export { JSON_DEPTH_LIMIT } from '../contract/json-depth.ts'
export { lossyNumberFault } from '../contract/exact-json.ts'
export { parseJsonBodyInTurns, parseStoredJsonInTurns } from '../contract/json-text.ts'
export { stringifyInParts } from '../contract/stringify-in-parts.ts'
