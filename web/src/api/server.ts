import { createClient } from '../../../src/client/client.ts'

/** The server that the page is from. */
export const server = createClient()
