/** Parsing of request bodies and serialization of large responses, the same for REST, MCP and the command line. */
export { JSON_DEPTH_LIMIT, nestsTooDeep } from '../contract/json/json-depth.ts'
export { lossyNumberMessage } from '../contract/json/exact-json.ts'
export { parseJsonBodyInTurns, parseStoredJsonInTurns } from '../contract/json/json-text.ts'
export { jsonInTurns, stringifyInParts } from '../contract/json/stringify-in-parts.ts'
