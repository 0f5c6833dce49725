# Runs a server as long as somebody holds the other end of standard input, and does what it is
# told there, one word a line. Arguments: programs, folder, port, address, user, password, tls.
set -eu
programs=$1 folder=$2 port=$3 address=$4 user=$5 password=$6 tls=$7
data="$folder/data"
# The end of the tests may come as a signal to the whole group.
trap '' INT TERM HUP
"$programs/initdb" -D "$data" -U "$user" --no-sync --auth-local=trust --auth-host=scram-sha-256 \
    --pwfile=/dev/stdin --encoding=UTF8 --locale=C >"$folder/initdb.log" 2>&1 <<EOF
$password
EOF
{
    echo "listen_addresses = '$address'"
    echo "port = $port"
    echo "unix_socket_directories = '$folder'"
    echo "fsync = off"
    echo "max_connections = 200"
} >>"$data/postgresql.conf"
if [ "$tls" = tls ]; then
    cd "$folder"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj "/CN=tests" -addext "basicConstraints=critical,CA:TRUE" \
        -keyout ca.key -out ca.pem >openssl.log 2>&1
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=db" \
        -keyout server.key -out server.csr >>openssl.log 2>&1
    echo "subjectAltName=IP:127.0.0.1" >san
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
        -extfile san -out server.pem >>openssl.log 2>&1
    chmod 600 server.key
    {
        echo "ssl = on"
        echo "ssl_cert_file = '$folder/server.pem'"
        echo "ssl_key_file = '$folder/server.key'"
    } >>"$data/postgresql.conf"
fi
run() { "$programs/pg_ctl" -D "$data" -w -t 60 "$@" >>"$folder/pg_ctl.log" 2>&1 </dev/null; }
told() {
    if "$@"; then echo "done"; else echo "failed"; fi
}
told run start -l "$folder/server.log"
while read -r order; do
    case $order in
        start) told run start -l "$folder/server.log" ;;
        stop) told run stop -m fast ;;
        crash) told run stop -m immediate ;;
    esac
done
run stop -m immediate || true
rm -rf "$folder"
