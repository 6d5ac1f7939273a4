/** How every skin reads the JSON that clients send. */
export { JSON_DEPTH_LIMIT } from '../contract/json-depth.ts'
export { lossyNumberFault } from '../contract/exact-json.ts'
export { parseJsonBodyInTurns } from '../contract/json-text.ts'
