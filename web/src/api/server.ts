import { createClient } from '../../../src/client/client.ts'

/** The client of the server that served the page. */
export const server = createClient()
