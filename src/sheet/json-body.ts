/** How every skin reads the JSON that clients send, and makes JSON that may be large. */
export { JSON_DEPTH_LIMIT } from '../contract/json/json-depth.ts'
export { lossyNumberFault } from '../contract/json/exact-json.ts'
export { parseJsonBodyInTurns, parseStoredJsonInTurns } from '../contract/json/json-text.ts'
export { stringifyInParts } from '../contract/json/stringify-in-parts.ts'
