"""Sends one message per row of a CSV with aiohttp: 64 at a time, over connections that are kept.

Usage: send.py LIST URL. The API key stands in HANDBILL_API_KEY.
"""

import asyncio
import csv
import os
import sys

import aiohttp

CONCURRENCY = 64


def text_of(row):
    where = f" Collect it in {row['branch']}." if row["branch"] else ""
    return f"Hello {row['name'] or 'there'}, your order {row['order']} is ready.{where} Riverside"


async def send(session, row):
    message = {
        "name": "peers",
        "channel": "SMS",
        "from": "Riverside",
        "body": {"text": text_of(row)},
        "recipients": [{"msisdn": row["msisdn"].strip()}],
    }
    async with session.post("/v2/messages", json=message) as response:
        response.raise_for_status()
        return (await response.json())["id"]


async def worker(session, rows, failed):
    for row in rows:
        try:
            await send(session, row)
        except (aiohttp.ClientError, asyncio.TimeoutError) as error:
            failed.append((row["msisdn"], error))


async def main(path, url):
    headers = {"X-Api-Key": os.environ["HANDBILL_API_KEY"]}
    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    failed = []
    with open(path, newline="", encoding="utf-8") as file:
        # One iterator for all workers: each takes the next row when its answer is here, and nothing piles up.
        rows = csv.DictReader(file)
        async with aiohttp.ClientSession(url, headers=headers, connector=connector) as session:
            await asyncio.gather(*(worker(session, rows, failed) for _ in range(CONCURRENCY)))
    for msisdn, error in failed:
        print(msisdn, error, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
