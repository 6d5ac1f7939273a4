/** How every skin reads the JSON that clients send. */
export { JSON_DEPTH_LIMIT } from '../contract/json-depth.ts'
export { parseJsonBody } from '../contract/json-text.ts'
