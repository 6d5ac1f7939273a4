/** Publishes frames to the subscribers of a store, for tests of several processes: `<url> <stream> <name> <count>`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Database } from '../../src/store/postgres/database/database.ts'
import { FrameFeed } from '../../src/store/postgres/frames/frame-feed.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'

const [url = '', stream = '', source = '', count = ''] = process.argv.slice(2)
const database = new Database(parseStoreUrl(url))
const feed = new FrameFeed(database)
for (let number = 0; number < Number(count);) {
  // In bursts of all lengths, so that other processes publish in between.
  for (let burst = 1 + ((number * 7) % 40); burst > 0 && number < Number(count); burst -= 1) {
    feed.publish(stream, [JSON.stringify({ source, number })])
    number += 1
  }
  if (number % 3 === 0) await feed.settled()
  else await sleep(1)
}
await feed.close()
await database.close()
