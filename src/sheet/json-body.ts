/** How every skin reads the JSON that clients send. */
export { JSON_DEPTH_LIMIT, parseJsonBody } from '../contract/json-text.ts'
