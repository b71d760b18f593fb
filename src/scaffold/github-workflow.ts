/** The workflow that docs/ci.md explains; a test compares it with docs/examples/github-actions.yml. */
export const GITHUB_WORKFLOW = `# Checks campaigns on every change, and says on a pull request what the change means. Sends nothing, and knows no key.
# It installs from package-lock.json: run \`npm install\` once, and commit that file.
#
# Actions are named by their major version. Where your rules ask for it, pin each to the full hash of a commit that you
# have checked.
name: campaigns

on:
  # Never pull_request_target: it would run what a stranger wrote with the rights of this repository.
  pull_request:
  push:
    branches: [main]

# Each job asks for what it needs, and gets nothing else.
permissions: {}

concurrency:
  group: campaigns-\${{ github.ref }}
  cancel-in-progress: true

jobs:
  validate:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@v5
        with:
          persist-credentials: false
      - uses: actions/setup-node@v5
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      - name: Check campaigns
        run: npx handbill validate --format github

  diff:
    if: \${{ github.event_name == 'pull_request' }}
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read
    outputs:
      artifact: \${{ steps.keep.outputs.artifact-id }}
    steps:
      - uses: actions/checkout@v5
        with:
          persist-credentials: false
          # What is checked out is the merge; its first parent is the branch that the change goes to.
          fetch-depth: 2
      - uses: actions/setup-node@v5
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      # A change that does not validate is shown too; the exit status is 2 then.
      - name: Say what the change means
        run: npx handbill diff HEAD^1 --days 14 --format markdown -o diff.md
      - name: Show it on the page of the run
        if: \${{ !cancelled() && hashFiles('diff.md') != '' }}
        run: cat diff.md >> "$GITHUB_STEP_SUMMARY"
      - uses: actions/upload-artifact@v4
        id: keep
        if: \${{ !cancelled() && hashFiles('diff.md') != '' }}
        with:
          name: campaign-diff
          path: diff.md
          retention-days: 5

  # By itself, so that nothing that the change brought along ever runs with the right to write. The token of a pull
  # request from a fork cannot write.
  comment:
    needs: diff
    if: \${{ !cancelled() && needs.diff.outputs.artifact != '' && github.event.pull_request.head.repo.fork != true }}
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      pull-requests: write
    steps:
      - uses: actions/download-artifact@v5
        with:
          name: campaign-diff
      - name: Comment on the pull request, or bring the comment up to date
        env:
          GH_TOKEN: \${{ github.token }}
          GH_REPO: \${{ github.repository }}
          PULL_REQUEST: \${{ github.event.pull_request.number }}
        run: |
          mine='.[] | select(.user.login == "github-actions[bot]" and (.body | startswith("<!-- handbill diff -->"))) | .id'
          found=$(gh api "repos/$GH_REPO/issues/$PULL_REQUEST/comments" --paginate --jq "$mine" | head -n 1)
          if [ -n "$found" ]; then
            gh api --silent --method PATCH "repos/$GH_REPO/issues/comments/$found" -F body=@diff.md
          else
            gh pr comment "$PULL_REQUEST" --body-file diff.md
          fi
`;
