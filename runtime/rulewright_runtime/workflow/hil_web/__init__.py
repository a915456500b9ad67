"""The reviewer's page: a small web server on this machine that shows the queue and takes decisions."""
